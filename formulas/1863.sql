-- platform-sync formula 1863
-- name: Ø Due Date (copy)
DATE_ADD(`Created At`, INTERVAL 3 MONTH)
