-- platform-sync formula 5758
-- name: Rank of Due Date
SUM(`Net Price`) / COUNT(DISTINCT `Straße`)
