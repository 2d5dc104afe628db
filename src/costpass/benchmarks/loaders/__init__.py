"""The bundled benchmarks: one small module each."""
