"""Problems and how they are graded."""
