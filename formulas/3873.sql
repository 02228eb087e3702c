-- platform-sync formula 3873
-- name: Max Created At (copy)
CASE WHEN DateDiff(Current_Date(), `Created At`) <= 30 AND `Updated At` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
