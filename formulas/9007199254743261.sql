-- platform-sync formula 9007199254743261
-- name: Churn
CASE WHEN DateDiff(Current_Date(), `Closed At`) <= 30 AND `Closed At` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
