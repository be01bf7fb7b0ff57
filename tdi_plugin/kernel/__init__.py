"""The SSM-induced kernel in numbers: responses, spectra, alignment, regression. Pure functions, float64."""

from tdi_plugin.kernel.alignment import CumulativePower, alignment, cumulative_power, mismatch, mode_weights
from tdi_plugin.kernel.circulant import circulant_bounds, circulant_distance, circulant_spectrum
from tdi_plugin.kernel.learning_curve import predicted_learning_curve
from tdi_plugin.kernel.regression import kernel_regression
from tdi_plugin.kernel.response import frequency_response, impulse_response
from tdi_plugin.kernel.spectra import KernelSpectrum, PopulationSpectrum, kernel_spectrum, population_spectrum
from tdi_plugin.kernel.toeplitz import ToeplitzOperator, induced_kernel, toeplitz_operator

__all__ = [
    "CumulativePower",
    "KernelSpectrum",
    "PopulationSpectrum",
    "ToeplitzOperator",
    "alignment",
    "circulant_bounds",
    "circulant_distance",
    "circulant_spectrum",
    "cumulative_power",
    "frequency_response",
    "impulse_response",
    "induced_kernel",
    "kernel_regression",
    "kernel_spectrum",
    "mismatch",
    "mode_weights",
    "population_spectrum",
    "predicted_learning_curve",
    "toeplitz_operator",
]
