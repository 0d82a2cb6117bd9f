-- How much of its push goes before a job: 0 for the first block of a platform, and one more each time that the number of blocks
-- before it doubles. So a push to a few devices does not wait for all of a push to millions.
alter table job add column turn bigint not null default 0;

-- All that decides which job is next, by due time, and the first due job of every lane and turn without reading those behind it.
create index job_waiting on job (due, app, id, lane, kind, turn);
create index job_by_lane on job (app, lane, turn, due, id);
drop index job_in_turn;

-- A named user that is deleted takes along the associations that wait for it.
create index pending_association_by_named_user on pending_association (app, named_user);
