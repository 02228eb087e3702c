-- platform-sync formula 9007199254745569
-- name: Weighted Pipeline
DATE_FORMAT(`Updated At`, '%Y-%m')
