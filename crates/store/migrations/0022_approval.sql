-- Above how many devices somebody who uses the console needs the approval of a second person; null if nobody does.
alter table app add column approval_above bigint;
