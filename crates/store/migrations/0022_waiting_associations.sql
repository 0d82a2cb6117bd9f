-- Associations that wait for a channel are forgotten after a while, the oldest first.
create index pending_association_by_created on pending_association (app, created);
