"""The one door from sync to async: works in a script, in a thread and inside a running loop (a notebook).

Also decides which event loop runs where the loop is ours: uvloop, which needs less of the processor, or asyncio's own.
"""

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def break_off() -> None:
    """What Ctrl-C does to a coroutine that has nothing to end cleanly."""
    raise KeyboardInterrupt


def run_sync(main: Callable[[], Coroutine[Any, Any, T]], *, interrupt: Callable[[], None] = break_off) -> T:
    """Run a coroutine to its end from synchronous code.

    Ctrl-C calls `interrupt` inside the loop, once per keystroke, and leaves the ending to the coroutine.
    """
    if _in_running_loop():
        return BackgroundLoop(main).result(interrupt)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        if threading.current_thread() is not threading.main_thread():
            return runner.run(main())
        before = signal.getsignal(signal.SIGINT)
        signal.signal(signal.SIGINT, _Keystrokes(runner.get_loop(), interrupt))
        try:
            return runner.run(main())
        finally:
            signal.signal(signal.SIGINT, before)


def clean_stop(message: str) -> KeyboardInterrupt:
    """The interrupt that a synchronous door raises after a clean stop, for whoever catches it.

    Where nobody does, the program ends as Python ends it (130 in a shell), with the message and without a traceback;
    so does the cell of a notebook.
    """
    interrupt = KeyboardInterrupt(message)  # not a class of our own: Python ends by the signal for this one alone
    interrupt.is_clean_stop = True  # type: ignore[attr-defined]
    show_as(interrupt, message)
    if not isinstance(sys.excepthook, _LastWord):
        sys.excepthook = _LastWord(sys.excepthook)
    return interrupt


def show_as(error: BaseException, message: str) -> None:
    """Let the cell of a notebook that an error ends show this message instead of a traceback."""
    error._render_traceback_ = lambda: [message]  # type: ignore[attr-defined] # IPython asks for it


@dataclass(slots=True, frozen=True)
class _LastWord:
    """Says the message of a clean stop that nobody caught; everything else goes where it went before."""

    before: Callable[..., Any]

    def __call__(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        if getattr(error, "is_clean_stop", False):
            sys.stderr.write(f"{error}\n")
        else:
            self.before(kind, error, trace)


@dataclass(slots=True)
class _Keystrokes:
    """Hands Ctrl-C to the loop. A loop that has not taken the last one is stuck in foreign code: that is broken off."""

    loop: asyncio.AbstractEventLoop
    interrupt: Callable[[], None]
    waiting: int = 0

    def __call__(self, *_: object) -> None:
        self.waiting += 1
        self.loop.call_soon_threadsafe(self._take)
        if self.waiting > 1:
            raise KeyboardInterrupt

    def _take(self) -> None:
        self.waiting = 0
        self.interrupt()


class BackgroundLoop(Generic[T]):
    """A coroutine that runs in a loop of its own, in a thread of its own, while the caller goes on."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._done: Future[T] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(main,), name="batchwork", daemon=True)
        self._interrupted_early = False
        try:
            self._thread.start()
            self._started.wait()
        except KeyboardInterrupt:  # the loop is already at work: leaving here would abandon it
            self._interrupted_early = True
            self._started.wait()

    def _work(self, main: Callable[[], Coroutine[Any, Any, T]]) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                self._loop = runner.get_loop()
                self._started.set()
                self._done.set_result(runner.run(main()))
        except BaseException as error:  # handed to whoever asks for the result
            self._done.set_exception(error)
        finally:
            self._started.set()

    def pass_on_early(self, interrupt: Callable[[], None]) -> None:
        """A Ctrl-C that came while the loop was being started reaches it now."""
        if self._interrupted_early:
            self._interrupted_early = False
            self.call(interrupt)

    def call(self, callback: Callable[[], None]) -> None:
        """Call something inside the loop, soon."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end, whatever it is; whether it has come."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def result(self, interrupt: Callable[[], None]) -> T:
        """Wait for the end; Ctrl-C calls `interrupt` inside the loop."""
        self.pass_on_early(interrupt)
        while True:
            try:
                value = self._done.result()
            except KeyboardInterrupt:
                if self._done.done():
                    raise
                self.call(interrupt)
            else:
                self._thread.join()
                return value


def _in_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """What makes our loops; None leaves it to asyncio: uvloop is missing, or the program has a policy of its own."""
    if sys.version_info < (3, 14) and type(asyncio.get_event_loop_policy()) is not asyncio.DefaultEventLoopPolicy:
        return None
    try:
        factory: Callable[[], asyncio.AbstractEventLoop] = import_module("uvloop").new_event_loop
    except ImportError:  # there is none for this system
        return None
    return factory
