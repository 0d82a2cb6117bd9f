-- Pushes that are held back or called off, and the jobs that carry them.

alter table push add column paused bigint not null default 0;

-- The push that a job delivers, so that what waits for it can be woken. Jobs from before have none until they wait again.
alter table job add column push blob;
create index job_by_push on job (app, push) where push is not null;
