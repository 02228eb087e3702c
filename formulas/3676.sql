-- platform-sync formula 3676
-- name: Status by Rep (copy)
COUNT(DISTINCT `地域`)
