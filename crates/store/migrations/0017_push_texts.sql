-- What a listing shows of a push, so that it need not read payloads; null in older rows, whose payloads tell.
alter table push add column name text;
alter table push add column title text;
alter table push add column alert text;
-- By whose credential it was asked for; null if nobody asked at that moment.
alter table push add column author text;
