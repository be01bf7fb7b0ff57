"""The builtin S4D model: s4's parameters by name and shape, in plain torch."""

from tdi_plugin.nn.block import ResidualBlock, S4Block
from tdi_plugin.nn.classifier import SequenceClassifier, SequenceDecoder
from tdi_plugin.nn.convolution import FFTConv
from tdi_plugin.nn.kernel import S4DKernel
from tdi_plugin.nn.layers import Normalization
from tdi_plugin.nn.model import SequenceModel
from tdi_plugin.nn.onelayer import OneLayer
from tdi_plugin.nn.realform import RealS4DKernel
from tdi_plugin.nn.vandermonde import vandermonde_product, vandermonde_transpose

__all__ = [
    "FFTConv",
    "Normalization",
    "OneLayer",
    "RealS4DKernel",
    "ResidualBlock",
    "S4Block",
    "S4DKernel",
    "SequenceClassifier",
    "SequenceDecoder",
    "SequenceModel",
    "vandermonde_product",
    "vandermonde_transpose",
]
