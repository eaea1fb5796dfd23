"""A small hand for ONNX graphs: operators by name, constants by value.

    g = Graph("float32");  y = g.MatMul(x, g.const(W));  g.model({"x": …}, y, …)

Operators are those of ai.onnx 17 and ai.onnx.ml 2, which every runtime of the last years has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ritz._core.errors import MissingDependency, ParameterError

__all__ = ["OUTPUT", "Graph"]

OPSET, ML_OPSET, IR = 17, 2, 8
#: What the scores are called.
OUTPUT = "scores"
#: A file of protocol buffers ends at 2 GB.
LARGEST = 1_900_000_000


class Graph:
    """Nodes and constants of one precision."""

    def __init__(self, dtype: str) -> None:
        try:
            import onnx
        except ImportError as error:
            raise MissingDependency(
                "export to ONNX needs the package onnx",
                received="it is not installed",
                hint="pip install 'ritz[export]'",
            ) from error
        self.onnx, self.dtype = onnx, np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.size = 0

    @property
    def float_type(self) -> int:
        """The element type of numbers."""
        kinds = self.onnx.TensorProto
        return int(kinds.FLOAT if self.dtype == np.float32 else kinds.DOUBLE)

    def const(self, value: Any) -> str:
        """The name of a constant; real numbers take the precision of the graph."""
        array = np.ascontiguousarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        array = array.reshape(np.shape(value))
        self.size += array.nbytes
        if self.size > LARGEST:
            raise ParameterError(
                "an ONNX file holds at most 2 GB", received="more numbers than that",
                hint="KernelPCA(solver='nystrom', landmarks=1000) compares with fewer rows",
            )  # fmt: skip
        name = f"ritz/c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def ints(self, *values: int) -> str:
        """A constant of whole numbers, such as axes."""
        return self.const(np.asarray(values, np.int64))

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """A node; the name of its output."""
        name = f"ritz/v{len(self.nodes)}"
        made = self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def __getattr__(self, operator: str) -> Any:
        if operator.startswith("_") or not operator[0].isupper():
            raise AttributeError(operator)
        return lambda *inputs, **attributes: self.node(operator, *inputs, **attributes)

    def sum_rows(self, value: str, axis: int = 1) -> str:
        """Sums along an axis, which stays with length one."""
        return self.node("ReduceSum", value, self.ints(axis), keepdims=1)

    def centred(self, x: str, centre: np.ndarray, rest: Any = 0.0) -> str:
        """x − centre − rest, with what the precision of the graph took off the centre."""
        if not np.any(centre) and not np.any(rest):
            return x
        out: str = self.Sub(x, self.const(np.asarray(centre, np.float64)))
        low = (centre - np.asarray(centre).astype(self.dtype).astype(np.float64)) + rest
        return self.Sub(out, self.const(low)) if np.any(low) else out

    def model(self, inputs: dict[str, tuple[str, int]], scores: str, k: int, words: dict[str, str]) -> Any:
        """The model: inputs by name (kind, columns), the tensor of scores, metadata."""
        helper, kinds = self.onnx.helper, self.onnx.TensorProto
        types = {"number": self.float_type, "text": kinds.STRING}
        given = [
            helper.make_tensor_value_info(name, types[kind], ["rows", width]) for name, (kind, width) in inputs.items()
        ]
        self.nodes.append(helper.make_node("Identity", [scores], [OUTPUT]))
        out = helper.make_tensor_value_info(OUTPUT, self.float_type, ["rows", k])
        graph = helper.make_graph(self.nodes, "ritz", given, [out], self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="ritz")
        made.producer_version, made.doc_string = words["ritz.version"], words.get("ritz.certificate", "")
        for key, value in words.items():
            entry = made.metadata_props.add()
            entry.key, entry.value = key, value
        self.onnx.checker.check_model(made)
        return made
