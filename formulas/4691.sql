-- platform-sync formula 4691
-- name: Max Customer Name
SUM(`Orders`
