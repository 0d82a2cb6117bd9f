-- Who asked for which change. A row is written in the transaction of the change.
create table audit (
    app bigint not null,
    -- The time of the request; of requests that are counted together, the beginning of their minute.
    at bigint not null,
    -- Tells requests of the same time apart; of requests that are counted together, a hash of what they share.
    id bigint not null,
    -- The time of the last of the requests, and how many they are.
    last_at bigint not null,
    n bigint not null,
    credential text not null,
    address text,
    action text not null,
    -- What was changed, as JSON: names of things and their ids.
    object text not null,
    -- More about the change, as JSON.
    detail text,
    -- The id of the last of the requests.
    request text,
    primary key (app, at, id)
);
create index audit_by_time on audit (at, app, id);
