-- platform-sync formula 3452
-- name: SLA breached?
SUM(`Latitude`)
