-- platform-sync formula 1166
-- name: ARPU test
CASE WHEN DateDiff(Current_Date(), `Closed At`) <= 30 AND `Due Date` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
