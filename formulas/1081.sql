-- platform-sync formula 1081
-- name: SLA breached?
CASE WHEN `Sales Rep` IN ('A', 'B', 'C''s') AND `Umsatz (€)` > -5 THEN 1 ELSE 0 END
