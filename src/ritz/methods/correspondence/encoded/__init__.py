"""What methods of categories and mixed columns share: columns that are encoded before they are analysed."""
