-- Which channels have live connections to which node. A node writes its row when they have changed, and a few times a minute that it
-- is still so.
create table live_presence (
    app bigint not null,
    node bigint not null,
    -- A serialized set of ordinals.
    connected blob not null,
    seen bigint not null,
    primary key (app, node)
);
