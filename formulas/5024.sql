-- platform-sync formula 5024
-- name: Sales Rep
RANK() OVER (ORDER BY SUM(`Umsatz (€)`) DESC)
