-- A connector that is wrong once must not delete what is here.

-- Of a walk over differences that is under way, whose next page is asked for with `cursor`: the cursor that the walk began with, empty where it
-- began without one. A page of it that says it is an enumeration is refused, and the walk begins again there. Null: `cursor` begins a walk.
alter table sync_states add column walk_start text;
-- JSON {scan, since, missing, known, at} of an enumeration whose end would have deleted everything, or most of much: its `generation`, the log's
-- last sequence when it began, the records that it did not name, how many there were, and when it ended (ms since 1970). All is read a second
-- time, and what is missing again goes. Null: no scan is in doubt.
alter table sync_states add column doubt text;
