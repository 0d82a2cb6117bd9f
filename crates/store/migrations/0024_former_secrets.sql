-- Secrets of apps that were replaced and are good for some time yet.
create table former_secret (
    app bigint not null,
    -- 'app' or 'master'.
    secret text not null,
    hash blob not null,
    -- The app secret in a form that can be read again, encrypted; null for master secrets.
    sealed text,
    -- From when on it is not good any more.
    ends bigint not null,
    primary key (app, secret)
);
