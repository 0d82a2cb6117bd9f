-- Durable work with a due time.

create table job (
    app bigint not null,
    id blob not null,
    kind text not null,
    -- Jobs of one app and lane share a limit of how many run at once.
    lane text not null,
    -- When it can be claimed. A claim moves this to the end of the lease, so that the job of a dead worker is
    -- due again.
    due bigint not null,
    -- How much of its push goes before it: 0 for the first block of a device type, and one more each time
    -- that the number of blocks before it doubles. So a push to a few devices does not wait for all of a push
    -- to millions.
    turn bigint not null,
    -- The number of the node that has claimed it, or 0.
    leased bigint not null,
    -- Raised by every claim: a worker whose lease ran out holds an older number and cannot change the job.
    attempt bigint not null,
    -- How often it failed since it last went well, by which it waits until it is tried again.
    failures bigint not null,
    -- The push that it sends, so that pausing and resuming find its jobs.
    push blob,
    payload blob not null,
    primary key (app, id)
);
-- The order in which jobs of all apps are claimed, with everything that decides which one is next.
create index job_waiting on job (due, app, id, lane, kind, turn);
-- The first due job of every lane and turn, without reading the jobs behind it.
create index job_by_lane on job (app, lane, turn, due, id);
create index job_by_push on job (app, push) where push is not null;
-- What nodes hold, to take over from those that died.
create index job_by_node on job (leased) where leased > 0;
