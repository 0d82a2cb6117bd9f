-- The type that whoever associates a channel takes it for: a channel that registers as another one is not the one that was meant.
-- Null for whoever does not say.
alter table pending_association add column device_type text;
