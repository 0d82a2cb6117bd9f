-- The people who use the console. They belong to the installation, and have roles in its apps.

create table account (
    id blob not null primary key,
    -- By which the person logs in, in lower case.
    email text not null,
    name text not null,
    -- A salted hash; null until the person has chosen one, and for people who log in elsewhere.
    password text,
    -- The secret of one-time codes, encrypted, and the last step of time whose code was used.
    totp text,
    totp_used bigint,
    -- Who the person is at the provider through which the person logs in.
    issuer text,
    subject text,
    is_owner bigint not null,
    is_disabled bigint not null,
    created bigint not null,
    -- The last time that the person was there, to a few minutes.
    seen bigint
);
create unique index account_by_email on account (email);
create unique index account_by_subject on account (issuer, subject) where issuer is not null;

create table account_role (
    account blob not null,
    -- The number of an app. The rows belong to accounts, and are not spread with apps.
    in_app bigint not null,
    role text not null,
    primary key (account, in_app)
);
create index account_role_by_app on account_role (in_app, account);

-- People who are logged in.
create table sign_in (
    -- Of the secret in the cookie.
    hash blob not null primary key,
    id blob not null,
    account blob not null,
    created bigint not null,
    -- The last time that it was used, to a few minutes.
    used bigint not null,
    -- From when on it does not count any more.
    ends bigint not null,
    -- The browser and the address from which the person has logged in.
    agent text,
    address text
);
create index sign_in_by_account on sign_in (account, created, id);
create index sign_in_by_end on sign_in (ends, hash);

-- Links that let somebody in once.
create table login_link (
    -- Of the secret in the link.
    hash blob not null primary key,
    purpose text not null,
    -- Null for a link that makes an account.
    account blob,
    ends bigint not null
);
create index login_link_by_account on login_link (account, hash) where account is not null;
create index login_link_by_end on login_link (ends, hash);
