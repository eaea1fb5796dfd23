"""What the program writes and reads back: result folders, manifests, scores, pictures, pages."""
