"""English words with irregular forms, which no stemming rule brings together."""

from __future__ import annotations

from typing import Final

# The plain form, then the others. Forms that are other words more often than not ("bore", "ground", "rose") are out,
# and words so general that they tell nothing ("get", "make", "take", "good").
_FORMS: Final = """
arise arose arisen
awake awoke awoken
beat beaten
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
cling clung
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
grow grew grown
hang hung
hear heard
hide hid hidden
kneel knelt
lean leant
learn learnt
lend lent
light lit
lose lost
mean meant
meet met
mistake mistook mistaken
overcome overcame
overwrite overwrote overwritten
pay paid
prove proven
rebuild rebuilt
rewrite rewrote rewritten
ride rode ridden
ring rang rung
rise risen
run ran
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spell spelt
spend spent
spin spun
spread spreading
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
teach taught
tear tore torn
throw threw thrown
understand understood
undo undid undone
wake woke woken
wear wore worn
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children
foot feet
goose geese
knife knives
man men
mouse mice
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
analysis analyses
appendix appendices
crisis crises
criterion criteria
hypothesis hypotheses
index indices
matrix matrices
phenomenon phenomena
vertex vertices
"""

PLAIN_FORMS: Final = {
    other: line.split()[0] for line in _FORMS.strip().splitlines() for other in line.split()[1:]
}
