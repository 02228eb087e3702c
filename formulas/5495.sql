-- platform-sync formula 5495
-- name: 売上 bucket OLD
SUM(CASE WHEN `Store #` = 'Closed Won' THEN `売上` ELSE 0 END)
