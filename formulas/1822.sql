-- platform-sync formula 1822
-- name: Fiscal Quarter - DO NOT USE
SUM(`Score`) / COUNT(DISTINCT `Channel`)
