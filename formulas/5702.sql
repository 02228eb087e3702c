-- platform-sync formula 5702
-- name: Σ Umsatz (€) - DO NOT USE
SUM(CASE WHEN `Currency` = 'Closed Won' THEN `Clicks` ELSE 0 END)
