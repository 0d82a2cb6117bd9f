-- How often a job has failed since it last went well, by which it waits until it is tried again.
alter table job add column failures bigint not null default 0;

-- The order in which jobs of all apps are claimed, with what decides whether there is a place for one.
create index job_in_turn on job (due, app, id, lane, kind);
drop index job_by_due;
