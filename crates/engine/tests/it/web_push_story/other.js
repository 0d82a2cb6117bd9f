// A worker of the site that has nothing to do with notifications.
