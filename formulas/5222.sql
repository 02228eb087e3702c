-- platform-sync formula 5222
-- name: Margin %
SUM(CASE WHEN `地域` = 'Closed Won' THEN `Umsatz (€)` ELSE 0 END)
