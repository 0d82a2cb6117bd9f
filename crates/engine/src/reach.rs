//! Whom a push can be sent to on a platform: those who see notifications, or those who only take silent ones.
