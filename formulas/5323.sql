-- platform-sync formula 5323
-- name: Max Cost
DATE_FORMAT(`Hire Date`, '%Y-%m')
