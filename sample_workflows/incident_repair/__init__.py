"""Sample: from alert to report, with an approval and a way back."""
