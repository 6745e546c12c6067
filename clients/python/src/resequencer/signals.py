"""SIGTERM and SIGINT as a wish to end in order; a second one ends at once.

Thread rule: any; only the main thread of a process can take signals, elsewhere nothing is done."""
from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Callable, Dict, Optional, Type


class StopSignals:
    """As a context manager: what was set before is set again behind it."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._before: Dict[int, Any] = {}

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._on_signal)

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, _: Optional[FrameType]) -> None:
        signal.signal(number, signal.SIG_DFL)
        self._stop()
