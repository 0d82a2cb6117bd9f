-- What the bodies of an app's log take, so that a limit can be kept without adding them up. Records from before are not
-- counted; they go by their age.
alter table app add column log_bytes bigint not null default 0;
