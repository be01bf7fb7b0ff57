"""What s4's data modules use of torchvision: `transforms` and `datasets`."""

from tdi_plugin.s4.standins import vision_datasets as datasets
from tdi_plugin.s4.standins import vision_transforms as transforms

__all__ = ["datasets", "transforms"]
