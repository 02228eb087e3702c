-- platform-sync formula 4341
-- name: Max Umsatz (€) OLD
SUM(`Umsatz (€)`)
