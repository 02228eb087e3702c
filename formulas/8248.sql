-- platform-sync formula 8248
-- name: Avg Cost
SUM(`Umsatz (€)`)
