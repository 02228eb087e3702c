-- platform-sync formula 7919
-- name: Weight kg YTD
LENGTH(`Country`) - INSTR(`Customer Name`, '@')
