"""A memory on several machines: one commit of what changed, fetch, merge, push, through the user's own git."""

from core.sync.git import BY_HAND_SILENCE as BY_HAND_SILENCE
from core.sync.service import Sync as Sync
from core.sync.set_up import SetUpStep as SetUpStep
from core.sync.set_up import StepDone as StepDone
from core.sync.set_up import set_up as set_up
from core.sync.set_up import take_back as take_back
from core.sync.state import Standing as Standing
from core.sync.state import SyncResult as SyncResult
from core.sync.state import SyncState as SyncState
