-- Live Activities and Live Updates that devices have told of, and the tokens under which Apple takes changes of the former.
create table live_token (
    app bigint not null,
    -- 'activity', 'start' or 'update'.
    kind text not null,
    -- The name of a Live Activity or Live Update, or the type of Live Activities that can be started.
    name text not null,
    ordinal bigint not null,
    -- Apple's id of a Live Activity, by which it is told from an earlier one of the same name.
    activity text,
    token text,
    -- Whether it is there. That one has ended is kept, too, for what the device told before and that arrives later.
    followed bigint not null,
    -- When it came to be so, by the clock of the device.
    changed bigint not null,
    received bigint not null,
    primary key (app, kind, name, ordinal)
);
-- For erasing a person.
create index live_token_by_ordinal on live_token (app, ordinal);
-- For forgetting old ones.
create index live_token_by_time on live_token (app, kind, received);
