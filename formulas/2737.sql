-- platform-sync formula 2737
-- name: Ø Created At
POWER(1 + `Umsatz (€)` / NULLIF(`Net Price`, 0), 12) - 1
