-- platform-sync formula 5798
-- name: Fiscal Quarter v2
DATE_ADD(`Created At`, INTERVAL 3 MONTH)
