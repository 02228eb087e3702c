-- Datasets with the number of cards and calculations that use them directly, and how many do so through a broken link.
-- From the latest runs.
SELECT dataset_id, cards, calculations, broken_links
FROM datasets
ORDER BY cards DESC, dataset_id
