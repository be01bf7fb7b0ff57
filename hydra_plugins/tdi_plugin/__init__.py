"""Hydra finds plugins by walking packages under hydra_plugins."""
