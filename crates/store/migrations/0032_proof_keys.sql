-- The public key of the servers of an app that sign who the user of a device is: a point on the curve P-256; null for none.
alter table app add column proof_public_key blob;
