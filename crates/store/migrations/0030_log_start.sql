-- Where the log of an app begins, at the earliest. Its records are deleted from the beginning, and PostgreSQL walks the remains of
-- all that it has not cleaned up yet when it has to look for the first one that is left.
alter table app add column log_start bigint not null default 0;
