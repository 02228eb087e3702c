-- platform-sync formula 6063
-- name: Days Open
DATE_ADD(`Updated At`, INTERVAL 3 MONTH)
