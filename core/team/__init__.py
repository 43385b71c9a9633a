"""The notes of a team in their project's repository: sharing one's own, the index, the folder."""

from core.team.folder import INDEX_FILE as INDEX_FILE
from core.team.folder import FolderStep as FolderStep
from core.team.folder import TeamState as TeamState
from core.team.folder import make_team_folder as make_team_folder
from core.team.folder import nearest_folder as nearest_folder
from core.team.folder import team_state as team_state
from core.team.folder import write_index as write_index
from core.team.sharing import Refused as Refused
from core.team.sharing import SharedFile as SharedFile
from core.team.sharing import SharePlan as SharePlan
from core.team.sharing import plan_share as plan_share
from core.team.sharing import share as share
from core.team.sharing import shared_from as shared_from
from core.team.trust import TrustEntry as TrustEntry
from core.team.trust import answer_for as answer_for
from core.team.trust import count_pages as count_pages
from core.team.trust import entry_for as entry_for
from core.team.trust import must_be_trusted as must_be_trusted
from core.team.trust import remember as remember
from core.team.trust import trust_folder as trust_folder
